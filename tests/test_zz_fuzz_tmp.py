import random, json
VALS=[None,True,False,0,1,-1,1.5,10**18,2**63,2**64-1,-2**63,1e300,"", "x","*","\u0000","a\u0000b","日本🙂","x"*3000,[],[1],[None],[[]],{}, {"a":1},"2026-01-01","https://[","https://a.b","00000000-0000-0000-0000-000000000000","Fixed","Percentage","Cpc","Cps","Cpl","untagged","true","ada@example.com","test","ada","1e5",0.000001,100,99.5,"\ud800" , "%s %(x)s", "'; drop table", "\\"]
def test_fuzz(brand, receiver):
    rnd=random.Random(7)
    pid=str(brand.program(auto_approve=True, sub_affiliate_enabled=True)); aid=brand.affiliate("ben"); ep=brand.endpoint(receiver.url)
    base={
     ("POST","/api/v1/programs"):{"name":"n","slug":"","description":"","termsUrl":"https://a.b","defaultCommissionType":"Fixed","defaultCommissionValue":1,"defaultCommissionModel":"Cpl","saleCommissionType":"Fixed","saleCommissionValue":1,"cookieWindowDays":3,"recurringMonths":1,"recurringDelayInvoices":0,"attributionModel":"LastTouch","autoApprove":True,"networkVisibility":"Private","isPubliclyDiscoverable":True,"budgetCents":5,"referralDestinationUrl":"https://a.b","minPayoutCents":1,"hostedCheckoutDoorEnabled":True,"hostedCheckoutDoorMode":"email","hostedCheckoutThankYouUrl":"","leadBountyCents":10,"clickRewardCents":1},
     ("POST","/api/v1/affiliates"):{"programId":pid,"email":"z@x.test","fullName":"a","status":"Pending","customCommissionType":"Fixed","customCommissionValue":1,"customAlias":None},
     ("POST",f"/api/p/id/{pid}/apply"):{"email":"q@x.test","fullName":"a","website":"","audience":"","whyInterested":"","customAlias":None,"recruitedBy":"ben","recruitedByAffiliateId":""},
     ("PUT",f"/api/v1/programs/{pid}/sub-affiliate-config"):{"enabled":True,"percent":4},
     ("POST","/api/v1/webhooks"):{"url":"https://localhost/a","events":["*"],"description":""},
     ("PATCH",f"/api/v1/webhooks/{ep['id']}"):{"url":"https://localhost/a","events":["*"],"description":""},
     ("POST",f"/api/v1/webhooks/{ep['id']}/test"):{"type":"test"},
    }
    seen={}
    n=0
    for (m,path),b in base.items():
        cases=[]
        for k in b:
            for v in VALS: cases.append({**b,k:v})
        for _ in range(150):
            cases.append({k:(rnd.choice(VALS) if rnd.random()<.4 else v) for k,v in b.items() if rnd.random()<.9})
        for c in cases:
            c=dict(c)
            if c.get("email") in ("z@x.test","q@x.test"): c["email"]=f"u{n}@x.test"
            if c.get("url")=="https://localhost/a": c["url"]=f"https://localhost/{n}"
            if c.get("slug")=="" : c["slug"]=f"slug-{n}"
            n+=1
            r=brand.call(m,path,json.dumps(c).encode("utf-8","surrogatepass"))
            seen.setdefault((m,path),{}).setdefault(r.status_code,0); seen[(m,path)][r.status_code]+=1
            assert r.status_code<500,(m,path,c,r.data)
    from urllib.parse import quote
    for path,params in {"/api/v1/programs":["take","cursor","includeArchived"],"/api/v1/affiliates":["take","skip","cursor","programId"],"/api/v1/conversions":["take","cursor","affiliateId","programId","status","kind","since","subId"],"/api/v1/webhooks":["take","cursor"],f"/api/v1/webhooks/{ep['id']}/deliveries":["take","cursor"]}.items():
        for p in params:
            for v in VALS:
                if v=="\ud800": continue
                r=brand.get(f"{path}?{p}={quote(v if isinstance(v,str) else json.dumps(v))}")
                assert r.status_code<500,(path,p,v,r.data)
                seen.setdefault(path,{}).setdefault(r.status_code,0); seen[path][r.status_code]+=1
            for raw in ("%ff","%ed%a0%80","%00","A"*56,"%F0%9F%99%82"):
                r=brand.get(f"{path}?{p}={raw}"); assert r.status_code<500
    for path in ["/api/v1/programs/","/api/v1/affiliates/","/api/v1/conversions/","/api/v1/webhooks/"]:
        for v in VALS:
            if isinstance(v,str) and v not in("\ud800",""):
                r=brand.get(path+quote(v,safe="")); assert r.status_code in(404,405,308,200),(path,v,r.status_code)
    for k,v in seen.items(): print(k,v)
    from models import db
    print(brand.rows("select (select count(*) from affiliate a where not exists (select from tracking_link l where l.affiliate_id=a.id and l.is_default)), (select count(*) from affiliate), (select count(*) from event where type='affiliate.created')"))
