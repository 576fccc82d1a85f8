/** The classes of HTML's elements as tables: their tags, and the attributes that they show as properties. */

// Attributes that several classes have, as the standard lists their words.
const referrerPolicy =
  'referrerPolicy(referrerpolicy):no-referrer,no-referrer-when-downgrade,same-origin,origin,strict-origin,origin-when-cross-origin,strict-origin-when-cross-origin,unsafe-url';
const crossOrigin = 'crossOrigin(crossorigin):~anonymous!,use-credentials';
const loading = 'loading:eager?!,lazy';
const fetchPriority = 'fetchPriority(fetchpriority):auto?!,high,low';
const encodings = 'multipart/form-data,text/plain';
const submitter = `formAction(formaction):address formEnctype(formenctype):application/x-www-form-urlencoded!,${encodings} formMethod(formmethod):get!,post,dialog formNoValidate(formnovalidate):flag formTarget(formtarget) popoverTargetAction(popovertargetaction):toggle?!,show,hide`;
const aligned = 'align ch(char) chOff(charoff) vAlign(valign)';
const link = `href:url target download ping rel relList(rel):tokens ${referrerPolicy}`;
const spaced = 'hspace:unsigned=0 vspace:unsigned=0';
const sized = 'width:unsigned=0 height:unsigned=0';
const margins = 'marginHeight(marginheight):null marginWidth(marginwidth):null';
const framed = `src:url name scrolling frameBorder(frameborder) longDesc(longdesc):url ${margins}`;

/** Attributes by class, in the language that `reflection.ts` reads. */
export const reflected: Readonly<Record<string, string>> = {
  HTMLElement:
    'title lang dir:ltr,rtl,auto accessKey(accesskey) nonce inert:flag autofocus:flag autocapitalize:none,off>none,sentences!,on>sentences,words,characters,> inputMode(inputmode):none,text,tel,url,email,numeric,decimal,search enterKeyHint(enterkeyhint):enter,done,go,next,previous,search,send popover:~auto,>auto,manual!,hint',
  HTMLAnchorElement: `${link} hreflang type name charset coords rev shape`,
  HTMLAreaElement: `${link} alt coords shape noHref(nohref):flag`,
  HTMLMediaElement: `src:url ${crossOrigin} preload:none,metadata?!,auto,>auto ${loading} autoplay:flag loop:flag controls:flag defaultMuted(muted):flag`,
  HTMLAudioElement: '',
  HTMLBaseElement: 'target',
  HTMLBodyElement: 'text:null link:null vLink(vlink):null aLink(alink):null bgColor(bgcolor):null background',
  HTMLBRElement: 'clear',
  HTMLButtonElement: `disabled:flag ${submitter} name type:submit?!,reset,button value`,
  HTMLCanvasElement: 'width:unsigned=300 height:unsigned=150',
  HTMLDataElement: 'value',
  HTMLDataListElement: '',
  HTMLDetailsElement: 'open:flag name',
  HTMLDialogElement: 'open:flag',
  HTMLDivElement: 'align',
  HTMLDListElement: 'compact:flag',
  HTMLDirectoryElement: 'compact:flag',
  HTMLEmbedElement: 'src:url type width height align name',
  HTMLFieldSetElement: 'disabled:flag name',
  HTMLFontElement: 'color:null face size',
  HTMLFormElement: `acceptCharset(accept-charset) action:address autocomplete:on?!,off enctype:application/x-www-form-urlencoded?!,${encodings} encoding(enctype):application/x-www-form-urlencoded?!,${encodings} method:get?!,post,dialog name noValidate(novalidate):flag target rel relList(rel):tokens`,
  HTMLFrameElement: `${framed} noResize(noresize):flag`,
  HTMLFrameSetElement: 'cols rows',
  HTMLHeadElement: '',
  HTMLHeadingElement: 'align',
  HTMLHRElement: 'align color noShade(noshade):flag size width',
  HTMLHtmlElement: 'version',
  HTMLIFrameElement: `${framed} srcdoc sandbox:tokens allow allowFullscreen(allowfullscreen):flag width height ${loading} ${referrerPolicy} align`,
  HTMLImageElement: `alt src:url srcset sizes ${crossOrigin} useMap(usemap) isMap(ismap):flag ${sized} decoding:auto?!,sync,async ${loading} ${fetchPriority} ${referrerPolicy} name lowsrc:url align ${spaced} border:null longDesc(longdesc):url`,
  HTMLInputElement: `accept align alt defaultChecked(checked):flag dirName(dirname) disabled:flag ${submitter} ${sized} max maxLength(maxlength):natural min minLength(minlength):natural multiple:flag name pattern placeholder readOnly(readonly):flag required:flag size:positive=20 src:url step type:text?!,hidden,search,tel,url,email,password,date,month,week,time,datetime-local,number,range,color,checkbox,radio,file,submit,image,reset,button useMap(usemap) defaultValue(value)`,
  HTMLLabelElement: 'htmlFor(for)',
  HTMLLegendElement: 'align',
  HTMLLIElement: 'value:long=0 type',
  HTMLLinkElement: `href:url ${crossOrigin} rel relList(rel):tokens as:audio,audioworklet,document,embed,fetch,font,frame,iframe,image,json,manifest,object,paintworklet,report,script,serviceworker,sharedworker,style,text,track,video,webidentity,worker,xslt media integrity hreflang type sizes:tokens blocking:tokens ${referrerPolicy} ${fetchPriority} disabled:flag charset rev target imageSrcset(imagesrcset) imageSizes(imagesizes)`,
  HTMLMapElement: 'name',
  HTMLMenuElement: 'compact:flag',
  HTMLMetaElement: 'name httpEquiv(http-equiv) content media scheme charset property',
  HTMLMarqueeElement: `behavior:scroll?!,slide,alternate direction:left?!,right,up,down bgColor(bgcolor) height width ${spaced} scrollAmount(scrollamount):unsigned=6 scrollDelay(scrolldelay):unsigned=85 trueSpeed(truespeed):flag`,
  HTMLMeterElement: 'min:double=0',
  HTMLModElement: 'cite:url dateTime(datetime)',
  HTMLObjectElement: `data:url type name width height useMap(usemap) align archive code declare:flag ${spaced} standby codeBase(codebase):url codeType(codetype) border:null`,
  HTMLOListElement: 'reversed:flag start:long=1 type compact:flag',
  HTMLOptGroupElement: 'disabled:flag label',
  HTMLOptionElement: 'disabled:flag defaultSelected(selected):flag',
  HTMLOutputElement: 'name htmlFor(for):tokens',
  HTMLParagraphElement: 'align',
  HTMLParamElement: 'name value type valueType(valuetype)',
  HTMLPictureElement: '',
  HTMLPreElement: 'width:long=0',
  HTMLProgressElement: 'max:magnitude=1',
  HTMLQuoteElement: 'cite:url',
  HTMLScriptElement: `src:url type noModule(nomodule):flag async:flag defer:flag blocking:tokens ${crossOrigin} integrity ${referrerPolicy} ${fetchPriority} charset event htmlFor(for)`,
  HTMLSelectElement: 'disabled:flag multiple:flag name required:flag size:unsigned=0',
  HTMLSlotElement: 'name',
  HTMLSourceElement: `src:url type srcset sizes media ${sized}`,
  HTMLSpanElement: '',
  HTMLStyleElement: 'media type blocking:tokens',
  HTMLTableCaptionElement: 'align',
  HTMLTableCellElement: `colSpan(colspan):clamped=1,1,1000 rowSpan(rowspan):clamped=1,0,65534 headers abbr scope:row,col,rowgroup,colgroup ${aligned} axis width height bgColor(bgcolor):null noWrap(nowrap):flag`,
  HTMLTableColElement: `span:clamped=1,1,1000 ${aligned} width`,
  HTMLTableElement:
    'align border frame rules summary width bgColor(bgcolor):null cellPadding(cellpadding):null cellSpacing(cellspacing):null',
  HTMLTableRowElement: `${aligned} bgColor(bgcolor):null`,
  HTMLTableSectionElement: aligned,
  HTMLTemplateElement:
    'shadowRootMode(shadowrootmode):open,closed shadowRootDelegatesFocus(shadowrootdelegatesfocus):flag',
  HTMLTextAreaElement:
    'cols:fallback=20 dirName(dirname) disabled:flag maxLength(maxlength):natural minLength(minlength):natural name placeholder readOnly(readonly):flag required:flag rows:fallback=2 wrap',
  HTMLTimeElement: 'dateTime(datetime)',
  HTMLTitleElement: '',
  HTMLTrackElement: 'kind:subtitles?,captions,descriptions,chapters,metadata! src:url srclang label default:flag',
  HTMLUListElement: 'compact:flag type',
  HTMLUnknownElement: '',
  HTMLVideoElement: `${sized} poster:url playsInline(playsinline):flag`,
};

/** What `document` shows of its element or its body. */
export const ofDocument: readonly (readonly [property: string, holder: string, shown: string])[] = [
  ['dir', 'documentElement', 'dir'],
  ['fgColor', 'body', 'text'],
  ['linkColor', 'body', 'link'],
  ['vlinkColor', 'body', 'vLink'],
  ['alinkColor', 'body', 'aLink'],
  ['bgColor', 'body', 'bgColor'],
];

export const tagsOfClasses: Readonly<Record<string, string>> = {
  HTMLAnchorElement: 'a',
  HTMLAreaElement: 'area',
  HTMLAudioElement: 'audio',
  HTMLBaseElement: 'base',
  HTMLBodyElement: 'body',
  HTMLBRElement: 'br',
  HTMLButtonElement: 'button',
  HTMLCanvasElement: 'canvas',
  HTMLDataElement: 'data',
  HTMLDataListElement: 'datalist',
  HTMLDetailsElement: 'details',
  HTMLDialogElement: 'dialog',
  HTMLDivElement: 'div',
  HTMLDListElement: 'dl',
  HTMLElement:
    'abbr address article aside b bdi bdo center cite code dd dfn dt em figcaption figure footer header hgroup i kbd main mark nav nobr noscript noframes noembed plaintext rp rt ruby s samp search section small strike strong sub summary sup tt u var wbr acronym basefont big rb rtc',
  HTMLDirectoryElement: 'dir',
  HTMLEmbedElement: 'embed',
  HTMLFieldSetElement: 'fieldset',
  HTMLFontElement: 'font',
  HTMLFormElement: 'form',
  HTMLFrameElement: 'frame',
  HTMLFrameSetElement: 'frameset',
  HTMLHeadElement: 'head',
  HTMLHeadingElement: 'h1 h2 h3 h4 h5 h6',
  HTMLHRElement: 'hr',
  HTMLHtmlElement: 'html',
  HTMLIFrameElement: 'iframe',
  HTMLImageElement: 'img',
  HTMLInputElement: 'input',
  HTMLLabelElement: 'label',
  HTMLLegendElement: 'legend',
  HTMLLIElement: 'li',
  HTMLLinkElement: 'link',
  HTMLMapElement: 'map',
  HTMLMarqueeElement: 'marquee',
  HTMLMenuElement: 'menu',
  HTMLMetaElement: 'meta',
  HTMLMeterElement: 'meter',
  HTMLModElement: 'ins del',
  HTMLObjectElement: 'object',
  HTMLOListElement: 'ol',
  HTMLOptGroupElement: 'optgroup',
  HTMLOptionElement: 'option',
  HTMLOutputElement: 'output',
  HTMLParagraphElement: 'p',
  HTMLParamElement: 'param',
  HTMLPictureElement: 'picture',
  HTMLPreElement: 'pre listing xmp',
  HTMLProgressElement: 'progress',
  HTMLQuoteElement: 'blockquote q',
  HTMLScriptElement: 'script',
  HTMLSelectElement: 'select',
  HTMLSlotElement: 'slot',
  HTMLSourceElement: 'source',
  HTMLSpanElement: 'span',
  HTMLStyleElement: 'style',
  HTMLTableCaptionElement: 'caption',
  HTMLTableCellElement: 'td th',
  HTMLTableColElement: 'col colgroup',
  HTMLTableElement: 'table',
  HTMLTableRowElement: 'tr',
  HTMLTableSectionElement: 'thead tbody tfoot',
  HTMLTemplateElement: 'template',
  HTMLTextAreaElement: 'textarea',
  HTMLTimeElement: 'time',
  HTMLTitleElement: 'title',
  HTMLTrackElement: 'track',
  HTMLUListElement: 'ul',
  HTMLVideoElement: 'video',
};

/** Attributes that elements of any kind show as properties; null where there is none. */
export const ariaAttributes =
  'Atomic AutoComplete Busy Checked ColCount ColIndex ColSpan Current Description Disabled Expanded HasPopup Hidden Invalid KeyShortcuts Label Level Live Modal MultiLine MultiSelectable Orientation Placeholder PosInSet Pressed ReadOnly Relevant Required RoleDescription RowCount RowIndex RowSpan Selected SetSize Sort ValueMax ValueMin ValueNow ValueText';
