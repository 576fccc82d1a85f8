// One target of each channel that both have, as Apprise and as Meerkat are told it, and where they differ on purpose: the point
// of the request, what each sends there, and the rule of the vendor by which Meerkat does.

const title = 'Kettle watch';
const text = 'The kettle is in stock';
export const message = { title, text };
const texts = { title, text };

export const cases = {
  apprise: {
    url: 'apprises://apprise.example.com/ops-team?tags=ops',
    config: { serverUrl: 'https://apprise.example.com', key: 'ops-team', tag: 'ops', ...texts },
    deviations: {
      path: {
        apprise: '/notify',
        meerkat: '/notify/ops-team',
        rule: "The server's documentation: the key of a configuration stands in the path.",
      },
      mediaType: {
        apprise: 'application/x-www-form-urlencoded',
        meerkat: 'application/json',
        rule: 'The server takes both.',
      },
      headers: { apprise: { 'x-apprise-config-id': 'ops-team' }, meerkat: {}, rule: 'The key stands in the path.' },
    },
  },
  dingtalk: {
    url: 'dingtalk://0a1b2c3d4e5f60718293a4b5c6d7e8f9/',
    config: {
      webhookUrl: 'https://oapi.dingtalk.com/robot/send?access_token=0a1b2c3d4e5f60718293a4b5c6d7e8f9',
      ...texts,
    },
  },
  discord: {
    url: 'discord://123456789012345678/aB3dE5gH7jK9mN1pQ3sT5vW7yZ9aB3dE5gH7jK9mN1pQ3sT5vW7yZ9',
    config: {
      webhookUrl:
        'https://discord.com/api/webhooks/123456789012345678/aB3dE5gH7jK9mN1pQ3sT5vW7yZ9aB3dE5gH7jK9mN1pQ3sT5vW7yZ9',
      content: `${title}\n${text}`,
    },
    deviations: {
      query: {
        apprise: '',
        meerkat: 'wait=true',
        rule: 'With `wait` Discord answers with the message, whose id later messages need, and says where it was not stored.',
      },
    },
  },
  feishu: {
    url: 'feishu://0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9',
    config: {
      webhookUrl: 'https://open.feishu.cn/open-apis/bot/v2/hook/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9',
      ...texts,
    },
    deviations: {
      path: {
        apprise: '/open-apis/bot/v2/hook/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9/',
        meerkat: '/open-apis/bot/v2/hook/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9',
        rule: 'The address as Feishu shows it, without a slash at its end.',
      },
    },
  },
  github_issue: {
    url: 'github://github_pat_11ABCDEFG0aB3dE5gH7jK9mN1pQ3sT5vW7yZ9@octo-org/shop-watch',
    config: { repository: 'octo-org/shop-watch', token: 'github_pat_11ABCDEFG0aB3dE5gH7jK9mN1pQ3sT5vW7yZ9', ...texts },
  },
  googlechat: {
    url: 'gchat://AAAAexample/key123/token456',
    config: {
      webhookUrl: 'https://chat.googleapis.com/v1/spaces/AAAAexample/messages?key=key123&token=token456',
      ...texts,
    },
    deviations: {
      query: {
        apprise: 'key=key123&token=token456',
        meerkat:
          'key=key123&messageReplyOption=REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD&requestId=f9785535-8c5d-4bc8-9314-8b74afcbd642&token=token456',
        rule: 'Google: threads need the option; a repeat under the same `requestId` makes no second message.',
      },
      title: {
        apprise: ['text'],
        meerkat: ['fallbackText', 'cardsV2.0.card.header.title'],
        rule: 'A card shows what a page says without links and mentions; Google shows `fallbackText` in notifications.',
      },
      text: {
        apprise: ['text'],
        meerkat: ['cardsV2.0.card.sections.0.widgets.0.textParagraph.text'],
        rule: 'As the title.',
      },
    },
  },
  gotify: {
    url: 'gotifys://push.example.com/AbCdEfGhIjKlMnO',
    config: { serverUrl: 'https://push.example.com', token: 'AbCdEfGhIjKlMnO', ...texts },
  },
  homeassistant: {
    url: 'hassios://home.example.com/eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9',
    config: {
      serverUrl: 'https://home.example.com',
      token: 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9',
      service: 'persistent_notification',
      ...texts,
    },
  },
  incident_io: {
    url: 'incidentio://01GW2G3V0S59R238FAHPDS1R66/aB3dE5gH7jK9mN1pQ3sT5vW7yZ9',
    config: { alertSourceId: '01GW2G3V0S59R238FAHPDS1R66', token: 'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9', ...texts },
  },
  line: {
    url: 'line://aB3dE5gH7jK9mN1pQ3sT5vW7yZ9aB3dE5gH7jK9mN1pQ3sT5vW7yZ9aB3dE5gH7jK9mN1pQ3sT5vW7yZ9aB3dE5gH7jK9mN1pQ3sT5vW7yZ9aB3dE5gH7jK9mN1pQ3sT5vW7yZ9aB3dE5gH7jK9mN1pQ3sT5vW7yZ9/U4af4980629a1b2c3d4e5f60718293a4b',
    config: {
      channelToken:
        'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9aB3dE5gH7jK9mN1pQ3sT5vW7yZ9aB3dE5gH7jK9mN1pQ3sT5vW7yZ9aB3dE5gH7jK9mN1pQ3sT5vW7yZ9aB3dE5gH7jK9mN1pQ3sT5vW7yZ9aB3dE5gH7jK9mN1pQ3sT5vW7yZ9',
      to: 'U4af4980629a1b2c3d4e5f60718293a4b',
      ...texts,
    },
    deviations: {
      headers: {
        apprise: {
          authorization:
            'Bearer aB3dE5gH7jK9mN1pQ3sT5vW7yZ9aB3dE5gH7jK9mN1pQ3sT5vW7yZ9aB3dE5gH7jK9mN1pQ3sT5vW7yZ9aB3dE5gH7jK9mN1pQ3sT5vW7yZ9aB3dE5gH7jK9mN1pQ3sT5vW7yZ9aB3dE5gH7jK9mN1pQ3sT5vW7yZ9',
        },
        meerkat: {
          authorization:
            'Bearer aB3dE5gH7jK9mN1pQ3sT5vW7yZ9aB3dE5gH7jK9mN1pQ3sT5vW7yZ9aB3dE5gH7jK9mN1pQ3sT5vW7yZ9aB3dE5gH7jK9mN1pQ3sT5vW7yZ9aB3dE5gH7jK9mN1pQ3sT5vW7yZ9aB3dE5gH7jK9mN1pQ3sT5vW7yZ9',
          'x-line-retry-key': 'f9785535-8c5d-4bc8-9314-8b74afcbd642',
        },
        rule: 'LINE: a repeat under the same key is not shown twice.',
      },
    },
  },
  matrix: {
    // The id of a transaction is each client's own.
    own: /[^/]+$/,
    url: 'matrixs://syt_token@matrix.example.org/%21abc:example.org?discovery=no',
    config: {
      homeserver: 'https://matrix.example.org',
      accessToken: 'syt_token',
      roomId: '!abc:example.org',
      ...texts,
    },
    deviations: {
      title: {
        apprise: ['body'],
        meerkat: ['body', 'formatted_body'],
        rule: 'Matrix: `formatted_body` is HTML of an allowed list, always with the plain `body` beside it.',
      },
      text: { apprise: ['body'], meerkat: ['body', 'formatted_body'], rule: 'As the title.' },
    },
  },
  mattermost: {
    url: 'mmosts://chat.example.com/3ccdd113474722377935511fc85d3dd4',
    config: { webhookUrl: 'https://chat.example.com/hooks/3ccdd113474722377935511fc85d3dd4', ...texts },
    deviations: {
      title: {
        apprise: ['text'],
        meerkat: ['text', 'attachments.0.fallback'],
        rule: 'What a page says stands in an attachment, apart from the title; `fallback` is for notifications.',
      },
      text: { apprise: ['text'], meerkat: ['attachments.0.text'], rule: 'As the title.' },
    },
  },
  msteams: {
    url: 'workflows://prod-01.westeurope.logic.azure.com:443/0a1b2c3d4e5f60718293a4b5c6d7e8f9/aB3dE5gH7jK9mN1pQ3sT5vW7yZ9?ver=2022-03-01-preview',
    config: {
      workflowUrl:
        'https://prod-01.westeurope.logic.azure.com:443/workflows/0a1b2c3d4e5f60718293a4b5c6d7e8f9/triggers/manual/paths/invoke?api-version=2022-03-01-preview&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=aB3dE5gH7jK9mN1pQ3sT5vW7yZ9',
      ...texts,
    },
    deviations: {
      title: {
        apprise: ['attachments.0.content.body.1.text'],
        meerkat: ['attachments.0.content.body.0.inlines.0.text'],
        rule: 'A TextBlock reads Markdown, a TextRun of a RichTextBlock none: what a page says formats nothing.',
      },
      text: {
        apprise: ['attachments.0.content.body.2.text'],
        meerkat: ['attachments.0.content.body.1.inlines.0.text'],
        rule: 'As the title.',
      },
    },
  },
  ntfy: {
    url: 'ntfys://tk_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9@ntfy.example.com/prices?image=no',
    config: {
      serverUrl: 'https://ntfy.example.com',
      token: 'tk_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9',
      topic: 'prices',
      title,
      message: text,
    },
  },
  opsgenie: {
    url: 'opsgenie://0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9?action=new',
    config: { apiKey: '0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9', ...texts },
  },
  pagerduty: {
    url: 'pagerduty://0123456789abcdef0123456789abcdef@aB3dE5gH7jK9mN1pQ3sT',
    config: { routingKey: '0123456789abcdef0123456789abcdef', ...texts },
    deviations: {
      headers: {
        apprise: { authorization: 'Token token=aB3dE5gH7jK9mN1pQ3sT' },
        meerkat: {},
        rule: 'Events API v2: the routing key in the body is all that gives the right.',
      },
      text: {
        apprise: ['payload.summary'],
        meerkat: ['payload.custom_details.text'],
        rule: 'The summary is the headline of the incident, at most 1,024 characters.',
      },
    },
  },
  pushbullet: {
    url: 'pbul://o.aB3dE5gH7jK9mN1pQ3sT5vW7yZ9aB3dE',
    config: { token: 'o.aB3dE5gH7jK9mN1pQ3sT5vW7yZ9aB3dE', ...texts },
    deviations: {
      headers: {
        apprise: { authorization: 'Basic by5hQjNkRTVnSDdqSzltTjFwUTNzVDV2Vzd5WjlhQjNkRTo=' },
        meerkat: { 'access-token': 'o.aB3dE5gH7jK9mN1pQ3sT5vW7yZ9aB3dE' },
        rule: "Pushbullet's documentation names the header `Access-Token`.",
      },
    },
  },
  pushover: {
    url: 'pover://uQiRzpo4DXghDmr9QzzfQu27cmVRsG@azGDORePK8gMaC0QOYAMyEEuzJnyUi',
    config: { appToken: 'azGDORePK8gMaC0QOYAMyEEuzJnyUi', userKey: 'uQiRzpo4DXghDmr9QzzfQu27cmVRsG', ...texts },
    deviations: {
      headers: {
        apprise: { authorization: 'Basic YXpHRE9SZVBLOGdNYUMwUU9ZQU15RUV1ekpueVVpOg==' },
        meerkat: {},
        rule: 'The documentation of Pushover has the token in the body, where both send it.',
      },
    },
  },
  rocketchat: {
    url: 'rockets://5f1b2c3d4e5f607182934a5b/aB3dE5gH7jK9mN1pQ3sT5vW7yZ9aB3dE@chat.example.com/?mode=webhook',
    config: {
      webhookUrl: 'https://chat.example.com/hooks/5f1b2c3d4e5f607182934a5b/aB3dE5gH7jK9mN1pQ3sT5vW7yZ9aB3dE',
      ...texts,
    },
    deviations: {
      title: {
        apprise: ['text'],
        meerkat: ['attachments.0.title'],
        rule: 'What a page says stands in an attachment; its title is no Markdown.',
      },
      text: { apprise: ['text'], meerkat: ['attachments.0.text'], rule: 'As the title.' },
    },
  },
  signal: {
    url: 'signals://signal.example.com/+4915112345678/+4915187654321',
    config: {
      serverUrl: 'https://signal.example.com',
      number: '+4915112345678',
      recipients: ['+4915187654321'],
      ...texts,
    },
  },
  slack: {
    url: 'slack://T1JJ3T3L2/B1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ',
    config: { webhookUrl: 'https://hooks.slack.com/services/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', ...texts },
    deviations: {
      title: {
        apprise: ['attachments.0.title'],
        meerkat: ['text', 'blocks.0.text.text'],
        rule: 'Slack calls attachments legacy and shows `text` in notifications; blocks of plain text format nothing.',
      },
      text: { apprise: ['attachments.0.text'], meerkat: ['text', 'blocks.1.text.text'], rule: 'As the title.' },
    },
  },
  splunk_oncall: {
    url: 'splunk://ops@0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9',
    config: { apiKey: '0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9', routingKey: 'ops', ...texts },
  },
  telegram: {
    url: 'tgram://1234567890:AAabcdefghijklmnopqrstuvwxyz0123456/-1001234567890',
    config: { botToken: '1234567890:AAabcdefghijklmnopqrstuvwxyz0123456', chatId: '-1001234567890', ...texts },
  },
  twilio_sms: {
    url: 'twilio://AC0123456789abcdef0123456789abcdef:fedcba9876543210fedcba9876543210@15005550006/4915112345678',
    config: {
      accountSid: 'AC0123456789abcdef0123456789abcdef',
      authToken: 'fedcba9876543210fedcba9876543210',
      from: '+15005550006',
      to: ['+4915112345678'],
      text: `${title}\n${text}`,
    },
  },
  vonage_sms: {
    url: 'vonage://abcd1234:aB3dE5gH7jK9mN1p@15005550006/4915112345678',
    config: {
      apiKey: 'abcd1234',
      apiSecret: 'aB3dE5gH7jK9mN1p',
      from: '15005550006',
      to: '+4915112345678',
      text: `${title}\n${text}`,
    },
    deviations: {
      mediaType: {
        apprise: 'application/x-www-form-urlencoded',
        meerkat: 'application/json',
        rule: 'The SMS API takes both.',
      },
      headers: {
        apprise: {},
        meerkat: { authorization: 'Basic YWJjZDEyMzQ6YUIzZEU1Z0g3aks5bU4xcA==' },
        rule: 'The SMS API takes key and secret in the header as well.',
      },
    },
  },
  webex: {
    url: 'wxteams://MjBkZDE3YzAtOWIyMS00ZTQ5LWI3YzEtZmE2ZDQ4OWE4ZDVmMjBkZDE3YzAtOWIyMS00ZTQ5LWI3YzEtZmE2ZDQ4OWE4ZDVm/Y2lzY29zcGFyazovL3VzL1JPT00vYmJjZWIxYWQtNDNmMS0zYjU4',
    config: {
      botToken: 'MjBkZDE3YzAtOWIyMS00ZTQ5LWI3YzEtZmE2ZDQ4OWE4ZDVmMjBkZDE3YzAtOWIyMS00ZTQ5LWI3YzEtZmE2ZDQ4OWE4ZDVm',
      roomId: 'Y2lzY29zcGFyazovL3VzL1JPT00vYmJjZWIxYWQtNDNmMS0zYjU4',
      ...texts,
    },
    deviations: {
      title: {
        apprise: ['markdown'],
        meerkat: ['text'],
        rule: '`text` is shown as it is: what a page says formats and mentions nothing.',
      },
      text: { apprise: ['markdown'], meerkat: ['text'], rule: 'As the title.' },
    },
  },
  zulip: {
    url: 'zulip://meerkat-bot@example/aB3dE5gH7jK9mN1pQ3sT5vW7yZ9aB1cD/alerts',
    config: {
      serverUrl: 'https://example.zulipchat.com',
      botEmail: 'meerkat-bot@example.zulipchat.com',
      apiKey: 'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9aB1cD',
      to: 'alerts',
      ...texts,
    },
  },
};
